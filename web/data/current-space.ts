import { createContext, useContext } from 'react'

/** The id of a space; null: what is personal. */
export type Space = string | null

/** The space that the page shows, which its address names. */
export const SpaceContext = createContext<Space>(null)

export const useSpace = (): Space => useContext(SpaceContext)

const PERSONAL = 'personal'

/** The parameter by which requests name a space. */
export const inSpace = (space: Space): { space: string } => ({ space: space ?? PERSONAL })

/** As `inSpace`, for the end of an address. */
export const spaceParameter = (space: Space): string => `space=${space ?? PERSONAL}`

/** The end of the address of an upload or of a change, which are personal where it names no space. */
export const spaceOfChange = (space: Space): string => (space === null ? '' : `?space=${space}`)

/** One space; undefined: everything that the person may read. */
export type SearchPlace = Space | undefined

export const placeParameter = (place: SearchPlace): string => (place === undefined ? '' : `&${spaceParameter(place)}`)
