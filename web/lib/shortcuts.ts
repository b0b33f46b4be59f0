/**
 * Keyboard shortcuts of the page: handlers match key presses against them, and texts show their `keys`. Keys inside one
 * widget (Escape, Tab, arrows) are in its component.
 */

export type KeyPress = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>

export type Shortcut = {
  /** As the page shows them. */
  keys: string
  description: string
  matches: (press: KeyPress) => boolean
}

/** macOS and iOS use Ctrl with a letter to edit text. */
const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

const withCommandKey = (letter: string): Pick<Shortcut, 'keys' | 'matches'> => ({
  keys: `${isApple ? '⌘' : 'Ctrl+'}${letter.toUpperCase()}`,
  matches: ({ key, ctrlKey, metaKey, shiftKey, altKey }) =>
    metaKey !== ctrlKey && (metaKey || !isApple) && !shiftKey && !altKey && key.toLowerCase() === letter,
})

const isCtrlOrCmd = ({ ctrlKey, metaKey }: KeyPress): boolean => ctrlKey || metaKey
const hasNoModifier = ({ ctrlKey, metaKey, shiftKey, altKey }: KeyPress): boolean =>
  !ctrlKey && !metaKey && !shiftKey && !altKey

export const SHORTCUTS = {
  openPalette: {
    ...withCommandKey('k'),
    description: 'Search conversations, messages and documents',
  },
  submit: {
    keys: 'Ctrl+Enter',
    description: 'Send the text of a box',
    matches: (press) => press.key === 'Enter' && isCtrlOrCmd(press),
  },
  focusNotifications: {
    keys: 'F8',
    description: 'Go to the notification',
    matches: (press) => press.code === 'F8',
  },
  toggleDebugPanel: {
    keys: 'Ctrl+Shift+D',
    description: 'Show or hide the debug panel',
    matches: (press) => press.ctrlKey && press.shiftKey && !press.altKey && !press.metaKey && press.code === 'KeyD',
  },
  print: {
    ...withCommandKey('p'),
    description: 'Print the conversation or the document',
  },
  closeViewer: {
    keys: 'Esc',
    description: 'Close the document',
    matches: (press) => press.key === 'Escape' && hasNoModifier(press),
  },
  previousSource: {
    keys: '←',
    description: 'Open the previous source of the answer',
    matches: (press) => press.key === 'ArrowLeft' && hasNoModifier(press),
  },
  nextSource: {
    keys: '→',
    description: 'Open the next source of the answer',
    matches: (press) => press.key === 'ArrowRight' && hasNoModifier(press),
  },
  selectAllDocuments: {
    keys: 'Ctrl+A',
    description: 'Select all documents of the list',
    matches: (press) => press.key.toLowerCase() === 'a' && isCtrlOrCmd(press),
  },
  deleteSelectedDocuments: {
    keys: 'Delete',
    description: 'Delete the selected documents',
    matches: (press) => press.key === 'Delete',
  },
} satisfies Record<string, Shortcut>
