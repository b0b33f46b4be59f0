import { createContext } from 'react'
import { type KnownAddresses, NO_ADDRESSES } from '#web/lib/messages/known-addresses.ts'

/** Named by the person or by a source of this thread. */
export const KnownAddressesContext = createContext<KnownAddresses>(NO_ADDRESSES)
