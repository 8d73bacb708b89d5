package relations

// NewTable is the table of all rules, for sizes of one kind.
func NewTable[S any]() Table[S] {
	t := Table[S]{}
	set := func(r func(c call[S]) [][]S, names ...string) {
		for _, n := range names {
			t[n] = func(c Call[S]) [][]S { return r(call[S]{c}) }
		}
	}
	set(pointwise[S], "where", "masked_fill", "lerp")
	set(inplace[S], "copy_", "fill_", "zero_", "masked_fill_")
	set(sameAs[S](1), "argsort")
	set(sameAs[S](2), "sort", "cummax", "cummin")
	set(reduce[S], "sum", "mean", "amax", "amin", "prod", "any", "all", "logsumexp", "var", "std", "argmax", "argmin", "nansum", "nanmean", "count_nonzero",
		"linalg_vector_norm")

	set(product[S](0, 1, -1), "mm", "bmm", "matmul", "mv", "dot")
	set(product[S](1, 2, 0), "addmm", "baddbmm")
	set(linear[S], "linear")
	set(attention[S], "scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu")

	set(cat[S], "cat", "concat", "concatenate")
	set(stack[S], "stack")
	set(slice[S], "slice.Tensor")
	set(selectInt[S], "select.int")
	set(narrow[S], "narrow")
	set(split[S], "split", "unsafe_split", "split_with_sizes", "unsafe_split_with_sizes")
	set(sections[S], "tensor_split.sections")
	set(chunk[S], "chunk", "unsafe_chunk")
	set(unbind[S], "unbind")
	set(diagonal[S], "diagonal")
	set(topk[S], "topk")
	set(gather[S], "gather")
	set(gatherAt[S], "index.Tensor")
	set(embedding[S], "embedding")

	set(view[S], "view", "view_copy", "reshape", "_unsafe_view", "_reshape_alias")
	set(flatten[S], "flatten")
	set(unflatten[S], "unflatten")
	set(expand[S], "expand", "expand_copy", "broadcast_to")
	set(repeat[S], "repeat")
	set(permute[S], "permute", "permute_copy")
	set(transpose[S], "transpose", "swapaxes", "swapdims")
	set(turn[S], "t", "mT", "numpy_T")
	set(unsqueeze[S], "unsqueeze", "unsqueeze_copy")

	set(factory[S](0), "zeros", "ones", "empty", "rand", "randn", "full", "empty_strided")
	set(factory[S](1), "new_zeros", "new_ones", "new_empty", "new_full")
	set(count[S], "iota")
	set(arange[S], "arange", "arange.start", "arange.start_step")

	set(convolution[S], "conv1d", "conv2d", "conv3d", "convolution", "_convolution")
	set(pool[S], "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d")
	set(layerNorm[S], "layer_norm", "native_layer_norm")
	set(channels[S], "batch_norm", "instance_norm", "group_norm", "native_group_norm", "native_batch_norm", "_native_batch_norm_legit",
		"_native_batch_norm_legit_no_training", "_native_batch_norm_legit_functional")

	set(crossEntropy[S], "cross_entropy_loss", "nll_loss", "nll_loss_nd")
	set(elementLoss[S], "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div", "soft_margin_loss")
	return t
}
