package accuracy

import "strings"

// sum says what an operator adds up: one of its arguments, along some dimensions of it.
type sum struct {
	at   int
	dims []int64 // empty: all
	by   string  // "dim": those that the argument of that name says; "shape": as many of the last as the next argument has sizes
}

// sums has the operators that add up, by name.
var sums = table(map[string]sum{
	"sum mean nansum var std var_mean std_mean norm linalg_vector_norm logsumexp prod cumsum cumprod logcumsumexp softmax log_softmax _softmax _log_softmax " +
		"_softmax_backward_data _log_softmax_backward_data": {by: "dim"},
	"mm bmm mv dot vdot linear matmul":                      {dims: []int64{-1}},
	"addmm baddbmm addbmm addmv":                            {at: 1, dims: []int64{-1}},
	"layer_norm native_layer_norm rms_norm _fused_rms_norm": {by: "shape"},
	"adaptive_avg_pool2d _adaptive_avg_pool2d":              {dims: []int64{-2, -1}},
	"conv1d conv2d conv3d convolution _convolution":         {at: 1, dims: []int64{1, 2, 3, 4}},
	"native_group_norm group_norm":                          {dims: []int64{1, 2, 3, 4}},
	"native_batch_norm _native_batch_norm_legit batch_norm _native_batch_norm_legit_functional _batch_norm_with_update": {dims: []int64{0, 2, 3, 4}},
	"convolution_backward native_layer_norm_backward native_group_norm_backward native_batch_norm_backward batch_norm_backward mse_loss l1_loss smooth_l1_loss huber_loss " +
		"binary_cross_entropy nll_loss_forward nll_loss2d_forward embedding_dense_backward trace _trilinear cdist _cdist_forward _cdist_backward": {},
	"index_put index_put_ _unsafe_index_put": {at: 2},
	"index_add index_add_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ index_reduce index_reduce_": {at: 3},
})

// exactly has the operators whose results are the same in every implementation, unless half precision is computed in float32: sums of two,
// choices and copies. Products are not among them, as a fused multiply-add does not round them.
var exactly = table(map[string]bool{
	"add sub rsub neg abs relu where cat stack clone copy maximum minimum amax amin max min clamp clamp_min clamp_max index index_select gather scatter slice_scatter select_scatter " +
		"threshold threshold_backward ceil floor round trunc sign sort topk constant_pad_nd masked_fill repeat flip roll tril triu fill zero zeros_like ones_like full_like new_zeros new_ones " +
		"new_full embedding slice_backward select_backward max_pool2d_with_indices _to_copy hardtanh leaky_relu contiguous max_pool2d reshape _unsafe_view": true,
})

// table has an entry for each word of the keys.
func table[T any](of map[string]T) map[string]T {
	out := map[string]T{}
	for words, v := range of {
		for _, w := range strings.Fields(words) {
			out[w] = v
		}
	}
	return out
}
