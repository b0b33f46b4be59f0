import type { LucideIcon } from 'lucide-react'

/** Something that can be done from the palette. */
export type PaletteAction = {
  id: string
  label: string
  /** Other words that somebody may look for it with. */
  keywords?: string
  /** Offered only to whoever looks for it. */
  rare?: boolean
  Icon: LucideIcon
  run: () => void
}
