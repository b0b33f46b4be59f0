import type { Theme } from '#web/data/theme.ts'

export const THEMES: readonly { value: Theme; label: string }[] = [
  { value: 'system', label: 'As the system' },
  { value: 'dark', label: 'Dark' },
  { value: 'light', label: 'Light' },
]
