import { z } from 'zod'

/** A value that goes out in a header as it is. */
export const headerTextSchema = z.string().regex(/^[\x20-\x7e]{1,255}$/)
