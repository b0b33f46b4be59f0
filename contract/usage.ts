import { z } from 'zod'

/** Answer of the SQL function `own_usage`; a limit of 0 is none. */
export const ownUsage = z.object({
  file_bytes: z.number(),
  file_limit: z.number(),
  text_bytes: z.number(),
  text_limit: z.number(),
})
export type OwnUsage = Readonly<z.infer<typeof ownUsage>>

/** As the SQL function `describe_bytes`: decimal units, at most one digit after the point. */
export function describeBytes(bytes: number): string {
  const [size, unit] = bytes >= 1e9 ? [1e9, 'GB'] : bytes >= 1e6 ? [1e6, 'MB'] : [1e3, 'kB']
  const count = unit === 'kB' ? Math.ceil(Math.max(bytes, 0) / size) : Math.round((bytes / size) * 10) / 10
  return `${count} ${unit}`
}

export const describeFullTexts = ({
  text_bytes: used,
  text_limit: limit,
}: Pick<OwnUsage, 'text_bytes' | 'text_limit'>): string =>
  `Your conversations use ${describeBytes(used)} of ${describeBytes(limit)}. Delete some to write more.`

export const describeFullFiles = ({ file_bytes: used, file_limit: limit }: OwnUsage): string =>
  `Your documents use ${describeBytes(used)} of ${describeBytes(limit)}. Delete some to upload more.`
