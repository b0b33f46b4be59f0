/** Types for the part of xlsx's CFB library (MS-CFB) that Alcove uses; the package declares none. */
import { CFB } from '@e965/xlsx'
import { z } from 'zod'

interface CompoundFiles {
  /** @throws Error if the bytes are not a compound file. */
  readonly read: (bytes: Uint8Array, options: { readonly type: 'buffer' }) => object
  readonly find: (file: object, path: string) => { readonly content?: ArrayLike<number> } | null
  readonly write: (file: object, options: { readonly type: 'array' }) => ArrayLike<number>
  readonly utils: {
    readonly cfb_new: () => object
    readonly cfb_add: (file: object, path: string, content: Uint8Array, options?: { readonly unsafe: true }) => object
  }
}

export const compoundFiles = z
  .custom<CompoundFiles>((value) => typeof value === 'object' && value !== null && 'read' in value)
  .parse(CFB)
