import { useCallback, useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'
import { addressOf, parsePlace, type Place } from '#web/lib/route-state.ts'

export type PlaceControl = Place & {
  /** Changes what is open; `replace` leaves no step for the back button. */
  go: (change: Partial<Place>, options?: { replace?: boolean }) => void
}

export function usePlace(): PlaceControl {
  const search = useSearch()
  const [, navigate] = useLocation()
  const go = useCallback<PlaceControl['go']>(
    (change, options) => navigate(addressOf({ ...parsePlace(location.search), ...change }), options),
    [navigate],
  )
  return useMemo(() => ({ ...parsePlace(search), go }), [search, go])
}
