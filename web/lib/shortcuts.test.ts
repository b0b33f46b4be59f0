import { expect, test } from 'vitest'
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
