import { z } from 'zod'

/** Answer of `GET /api/account/export/size`: estimated length of the archive. */
export const exportSize = z.object({ bytes: z.number() })
export type ExportSize = z.infer<typeof exportSize>
