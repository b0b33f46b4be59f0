import { useCallback, useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'
import { formatRoute, parseRouteState, type RouteState } from '#web/lib/route-state.ts'

export type RouteControl = RouteState & {
  /** Changes what is open; `replace` adds no entry to the browser's history. */
  navigate: (change: Partial<RouteState>, options?: { replace?: boolean }) => void
}

export function useRouteState(): RouteControl {
  const search = useSearch()
  const [, setLocation] = useLocation()
  const navigate = useCallback<RouteControl['navigate']>(
    (change, options) => setLocation(formatRoute({ ...parseRouteState(location.search), ...change }), options),
    [setLocation],
  )
  return useMemo(() => ({ ...parseRouteState(search), navigate }), [search, navigate])
}
