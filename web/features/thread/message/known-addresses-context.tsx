import { createContext } from 'react'
import { type KnownAddresses, NO_ADDRESSES } from '#web/lib/messages/known-addresses.ts'

/** What the person and the sources of this thread named. */
export const KnownAddressesContext = createContext<KnownAddresses>(NO_ADDRESSES)
