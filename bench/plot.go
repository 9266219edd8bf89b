package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// What a plot looks like. Colours are told apart by those who see few, and stand on
// white as well as on black.
const (
	plotWidth  = 760
	plotHeight = 360
	plotLeft   = 60
	plotRight  = 20
	plotTop    = 50
	plotBottom = 70
)

func colours() []string { return []string{"#8a8f98", "#1f77b4", "#17a2a2", "#d9822b"} }

type (
	barGroup struct {
		name string
		bars []bar
	}
	bar struct {
		name   string
		values []float64
	}
	line struct {
		name   string
		points []point
	}
)

// A canvas is an SVG being drawn, with a logarithmic scale upwards.
type canvas struct {
	strings.Builder
	low, high float64 // powers of ten
}

func newCanvas(title string, values []float64) *canvas {
	c := &canvas{low: math.Floor(math.Log10(slices.Min(values))), high: math.Ceil(math.Log10(slices.Max(values)))}
	if c.high <= c.low {
		c.high = c.low + 1
	}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" role="img">`+"\n",
		plotWidth, plotHeight)
	fmt.Fprintf(c, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", html.EscapeString(title))
	c.text(plotWidth/2, 24, "middle", title)
	for p := c.low; p <= c.high; p++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, p)
			if y := c.y(v); y >= plotTop-1 {
				fmt.Fprintf(c, `<path d="M%d %.1fH%d" stroke="#ddd"/>`+"\n", plotLeft, y, plotWidth-plotRight)
				c.text(plotLeft-6, y+4, "end", strings.TrimSuffix(strings.TrimSuffix(number(v), "0"), ".0"))
			}
		}
	}
	return c
}

// y is how far down a value stands.
func (c *canvas) y(v float64) float64 {
	share := (math.Log10(v) - c.low) / (c.high - c.low)
	return plotHeight - plotBottom - share*(plotHeight-plotBottom-plotTop)
}

func (c *canvas) text(x, y float64, anchor, text string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="#222">%s</text>`+"\n", x, y, anchor, html.EscapeString(text))
}

// done ends the drawing.
func (c *canvas) done() string { return c.String() + "</svg>\n" }

// drawBars draws groups of bars, each the median of its values, with a whisker from the
// least to the most.
func drawBars(title string, groups []barGroup) string {
	var all []float64
	for _, g := range groups {
		for _, b := range g.bars {
			all = append(all, b.values...)
		}
	}
	c := newCanvas(title, all)
	step := float64(plotWidth-plotLeft-plotRight) / float64(len(groups))
	for i, g := range groups {
		left := plotLeft + step*float64(i)
		c.text(left+step/2, plotHeight-16, "middle", g.name)
		room := step * 0.8 / float64(len(g.bars))
		for j, b := range g.bars {
			x, m := left+step*0.1+room*float64(j), median(b.values)
			base := c.y(math.Pow(10, c.low))
			fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n",
				x+room*0.15, c.y(m), room*0.7, base-c.y(m), colours()[[]int{0, 1, 3}[j%3]])
			fmt.Fprintf(c, `<path d="M%.1f %.1fV%.1f" stroke="#222"/>`+"\n", x+room/2, c.y(slices.Min(b.values)), c.y(slices.Max(b.values)))
			c.text(x+room/2, c.y(slices.Max(b.values))-6, "middle", number(m))
			c.text(x+room/2, plotHeight-plotBottom+16, "middle", b.name)
		}
	}
	return c.done()
}

// drawLines draws latencies over the share of calls that took no longer.
func drawLines(title string, lines []line) string {
	var all []float64
	for _, l := range lines {
		for _, p := range l.points {
			all = append(all, p.value)
		}
	}
	c := newCanvas(title, all)
	x := func(share float64) float64 {
		return plotLeft + -math.Log10(1-share)/3.1*(plotWidth-plotLeft-plotRight)
	}
	for _, share := range []float64{0.5, 0.9, 0.99, 0.999} {
		fmt.Fprintf(c, `<path d="M%.1f %dV%d" stroke="#ddd"/>`+"\n", x(share), plotTop, plotHeight-plotBottom)
		c.text(x(share), plotHeight-plotBottom+16, "middle", fmt.Sprintf("p%g", share*100))
	}
	for i, l := range lines {
		colour := colours()[i%len(colours())]
		path := make([]string, len(l.points))
		for j, p := range l.points {
			path[j] = fmt.Sprintf("%.1f %.1f", x(p.share), c.y(p.value))
		}
		fmt.Fprintf(c, `<path d="M%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(path, "L"), colour)
		at := float64(plotLeft + i*180)
		fmt.Fprintf(c, `<rect x="%.1f" y="%d" width="12" height="12" fill="%s"/>`+"\n", at, plotHeight-30, colour)
		c.text(at+18, plotHeight-20, "start", l.name)
	}
	return c.done()
}
