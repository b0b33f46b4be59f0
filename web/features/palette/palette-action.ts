import type { LucideIcon } from 'lucide-react'

export type PaletteAction = {
  id: string
  label: string
  /** Further search words. */
  keywords?: string
  /** Shown only as a search result. */
  rare?: boolean
  Icon: LucideIcon
  run: () => void
}
