import { createContext, use, useMemo, type JSX, type ReactNode } from 'react'

type Place = { 'aria-posinset'?: number; 'aria-setsize': number }

const PlaceContext = createContext<Place | null>(null)

type PlaceInThreadProps = {
  /** Counted from 1; null while older messages are not loaded. */
  place: number | null
  total: number | null
  children: ReactNode
}

/** Gives a message its position for screen readers. */
export function PlaceInThread({ place, total, children }: PlaceInThreadProps): JSX.Element {
  const value = useMemo(
    (): Place => ({ ...(place === null ? {} : { 'aria-posinset': place }), 'aria-setsize': total ?? -1 }),
    [place, total],
  )
  return <PlaceContext value={value}>{children}</PlaceContext>
}

/** ARIA attributes of a message's article. */
export const usePlaceInThread = (): Place | null => use(PlaceContext)
