import { z } from 'zod'

/** Answer of `GET /api/account/export/size`: about how many bytes the archive will have. */
export const exportSize = z.object({ bytes: z.number() })
export type ExportSize = z.infer<typeof exportSize>
