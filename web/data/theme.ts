import { ownName } from '#web/data/base-path.ts'
import { localStore } from './storage/text-store.ts'

const THEME_KEY = ownName('alcove-ui-theme')
const LIGHT = '(prefers-color-scheme: light)'

export type Theme = 'system' | 'dark' | 'light'

/** Dark until another one is chosen. */
export function readTheme(): Theme {
  const stored = localStore.getItem(THEME_KEY)
  return stored === 'system' || stored === 'light' ? stored : 'dark'
}

function applyTheme(): void {
  const theme = readTheme()
  const light = theme === 'light' || (theme === 'system' && matchMedia(LIGHT).matches)
  document.documentElement.dataset.theme = light ? 'light' : 'dark'
}

export function storeTheme(theme: Theme): void {
  localStore.setItem(THEME_KEY, theme, 'settings')
  applyTheme()
}

export function followTheme(): void {
  applyTheme()
  matchMedia(LIGHT).addEventListener('change', applyTheme)
  addEventListener('storage', applyTheme)
}
