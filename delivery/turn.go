package delivery

// A turn is one caller waiting.
type turn struct {
	class Class
	seq   uint64
	ready chan struct{}
	index int // in the heap, -1 once out of it
}

func (t *turn) before(o *turn) bool {
	if t.class != o.class {
		return t.class < o.class
	}
	return t.seq < o.seq
}

// turns is a heap of callers, the next one first.
type turns []*turn

func (q turns) Len() int           { return len(q) }
func (q turns) Less(i, j int) bool { return q[i].before(q[j]) }
func (q turns) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is for package heap.
func (q *turns) Push(x any) {
	t := x.(*turn)
	t.index = len(*q)
	*q = append(*q, t)
}

// Pop is for package heap.
func (q *turns) Pop() any {
	old := *q
	t := old[len(old)-1]
	t.index = -1
	*q = old[:len(old)-1]
	return t
}
