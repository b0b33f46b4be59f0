import { afterEach, expect, test, vi } from 'vitest'
import { SHORTCUTS, type KeyPress } from './shortcuts.ts'

const press = (change: Partial<KeyPress>): KeyPress => ({
  key: '',
  code: '',
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...change,
})
const matching = (change: Partial<KeyPress>): string[] =>
  Object.entries(SHORTCUTS)
    .filter(([, shortcut]) => shortcut.matches(press(change)))
    .map(([id]) => id)

test.each<[string, Partial<KeyPress>, string[]]>([
  ['Ctrl+K', { key: 'k', ctrlKey: true }, ['openPalette']],
  ['Cmd+K', { key: 'K', metaKey: true }, ['openPalette']],
  ['Ctrl+Cmd+K', { key: 'k', ctrlKey: true, metaKey: true }, []],
  ['Ctrl+P', { key: 'p', ctrlKey: true }, ['print']],
  ['Cmd+P', { key: 'P', metaKey: true }, ['print']],
  ['Ctrl+Enter', { key: 'Enter', ctrlKey: true }, ['submit']],
  ['Cmd+Enter', { key: 'Enter', metaKey: true }, ['submit']],
  ['Enter', { key: 'Enter' }, []],
  ['Ctrl+Shift+D', { key: 'D', code: 'KeyD', ctrlKey: true, shiftKey: true }, ['toggleDebugPanel']],
  ['F8', { key: 'F8', code: 'F8' }, ['focusNotifications']],
  ['Escape', { key: 'Escape' }, ['closeViewer']],
  ['Shift+Escape', { key: 'Escape', shiftKey: true }, []],
  ['ArrowLeft', { key: 'ArrowLeft' }, ['previousSource']],
  ['ArrowRight', { key: 'ArrowRight' }, ['nextSource']],
  ['Ctrl+A', { key: 'a', ctrlKey: true }, ['selectAllDocuments']],
  ['Delete', { key: 'Delete' }, ['deleteSelectedDocuments']],
])('%s matches its shortcut alone', (_keys, change, ids) => {
  expect(matching(change)).toEqual(ids)
})

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

test.each([
  ['MacIntel', 'k', 'openPalette', { ctrlKey: false, metaKey: true }, '⌘K'],
  ['MacIntel', 'p', 'print', { ctrlKey: false, metaKey: true }, '⌘P'],
  ['Linux x86_64', 'k', 'openPalette', { ctrlKey: true, metaKey: true }, 'Ctrl+K'],
] as const)('on %s, %s with the keys of text editing is left alone', async (platform, key, id, matched, keys) => {
  vi.resetModules()
  vi.stubGlobal('navigator', { platform })
  const { SHORTCUTS: shortcuts } = await import('./shortcuts.ts')
  expect(shortcuts[id].matches(press({ key, ctrlKey: true }))).toBe(matched.ctrlKey)
  expect(shortcuts[id].matches(press({ key, metaKey: true }))).toBe(matched.metaKey)
  expect(shortcuts[id].keys).toBe(keys)
})
