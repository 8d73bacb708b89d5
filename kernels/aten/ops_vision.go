package aten

import (
	"math"

	"whittle/kernels/tensor"
)

// The operators of torchvision that graphs contain: roi_align and its gradient. A sample is interpolated between its four neighbours; one that
// lies outside of the image reads zeros.

// roiSamples visits the bilinear samples of every output bin: output position, and up to four input positions with weights.
func roiSamples(rois *tensor.Tensor, images int64, scale float64, ph, pw, h, w, ratio int64, aligned bool, f func(roi, batch, bin int64, pos [4]int64, wt [4]float64)) error {
	rs := rois.Floats()
	for r := int64(0); r < rois.Shape[0]; r++ {
		p := rs[r*5 : r*5+5]
		if !(p[0] > -1 && p[0] < float64(images)) {
			return errf("roi_align: box %d is of image %g, and there are %d", r, p[0], images)
		}
		off := 0.0
		if aligned {
			off = 0.5
		}
		x1, y1 := p[1]*scale-off, p[2]*scale-off
		rw, rh := p[3]*scale-off-x1, p[4]*scale-off-y1
		if !aligned {
			rw, rh = max(rw, 1), max(rh, 1)
		}
		bh, bw := rh/float64(ph), rw/float64(pw)
		gh, gw := ratio, ratio
		if ratio <= 0 {
			gh, gw = int64(math.Ceil(bh)), int64(math.Ceil(bw))
		}
		n := float64(max(gh*gw, 1))
		for i := int64(0); i < ph*pw; i++ {
			for a := int64(0); a < gh; a++ {
				for b := int64(0); b < gw; b++ {
					y := y1 + float64(i/pw)*bh + (float64(a)+0.5)*bh/float64(gh)
					x := x1 + float64(i%pw)*bw + (float64(b)+0.5)*bw/float64(gw)
					if y < -1 || y > float64(h) || x < -1 || x > float64(w) {
						continue
					}
					y, x = max(y, 0), max(x, 0)
					lo := func(v float64, size int64) (int64, int64, float64) {
						k := int64(v)
						if k >= size-1 {
							return size - 1, size - 1, 0
						}
						return k, k + 1, v - float64(k)
					}
					y0, y1, ly := lo(y, h)
					x0, x1, lx := lo(x, w)
					f(r, int64(p[0]), i, [4]int64{y0*w + x0, y0*w + x1, y1*w + x0, y1*w + x1},
						[4]float64{(1 - ly) * (1 - lx) / n, (1 - ly) * lx / n, ly * (1 - lx) / n, ly * lx / n})
				}
			}
		}
	}
	return nil
}

func init() {
	def("torchvision::roi_align", func(c *Call) (Value, error) {
		t, rois, ph, pw := c.T(0), c.T(1), c.I(3), c.I(4)
		if rois.Dim() != 2 || rois.Shape[1] != 5 {
			return nil, errf("rois must have shape as Tensor[K, 5]")
		}
		ch, h, w := t.Shape[1], t.Shape[2], t.Shape[3]
		o := c.NewC(t.DType, rois.Shape[0], ch, ph, pw)
		if !c.real {
			return o, nil
		}
		x, y := c.floats(t), c.zeros(o.Numel())
		err := roiSamples(rois, t.Shape[0], c.F(2), ph, pw, h, w, c.I(5), c.B(6), func(roi, batch, bin int64, pos [4]int64, wt [4]float64) {
			for k := int64(0); k < ch; k++ {
				img := x[(batch*ch+k)*h*w:]
				for q := range pos {
					y[(roi*ch+k)*ph*pw+bin] += wt[q] * img[pos[q]]
				}
			}
		})
		o.SetFloats(y)
		return o, err
	})
	def("torchvision::_roi_align_backward", func(c *Call) (Value, error) {
		g, rois, ph, pw, n, ch, h, w := c.T(0), c.T(1), c.I(3), c.I(4), c.I(5), c.I(6), c.I(7), c.I(8)
		o := c.NewC(g.DType, n, ch, h, w)
		if !c.real {
			return o, nil
		}
		gs, x := c.floats(g), c.zeros(o.Numel())
		err := roiSamples(rois, n, c.F(2), ph, pw, h, w, c.I(9), c.B(10), func(roi, batch, bin int64, pos [4]int64, wt [4]float64) {
			for k := int64(0); k < ch; k++ {
				img := x[(batch*ch+k)*h*w:]
				for q := range pos {
					img[pos[q]] += wt[q] * gs[(roi*ch+k)*ph*pw+bin]
				}
			}
		})
		o.SetFloats(x)
		return o, err
	})
}
