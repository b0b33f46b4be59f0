import { z } from 'zod'

/** A value that is safe in a response header. */
export const headerTextSchema = z.string().regex(/^[\x20-\x7e]{1,255}$/)
