package throttle

import "sync/atomic"

// recentRoutes are routes that were looked up lately, to be found without a
// lock. Keys that fall on one place take it from each other. The zero value is
// empty.
type recentRoutes [64]atomic.Pointer[recentRoute]

type recentRoute struct {
	key routeKey
	route
}

// find returns the route, or nil. It may have been retired since.
func (r *recentRoutes) find(k *routeKey) *recentRoute {
	if known := r.at(k).Load(); known != nil && known.key == *k {
		return known
	}
	return nil
}

// keep notes a route. The caller holds a lock that excludes forget.
func (r *recentRoutes) keep(k *routeKey, to route) {
	r.at(k).Store(&recentRoute{key: *k, route: to})
}

// forget drops all routes.
func (r *recentRoutes) forget() {
	for i := range r {
		r[i].Store(nil)
	}
}

// at is the place of a key: by the lengths and a few bytes of its parts, which
// is enough to set the models of a program apart.
func (r *recentRoutes) at(k *routeKey) *atomic.Pointer[recentRoute] {
	h := uint(len(k.account)) + 3*uint(len(k.model))
	if n := len(k.key); n > 0 {
		h += 31 * uint(k.key[n-1])
	}
	if n := len(k.model); n > 0 {
		h += 5*uint(k.model[n-1]) + 17*uint(k.model[n/2])
	}
	return &r[h%uint(len(r))]
}
