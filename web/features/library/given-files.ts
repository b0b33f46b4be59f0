import type { ChangeEvent, DragEvent } from 'react'

/** `at` is where on the page the person dropped or pasted them; null where that is unknown. */
export type GivenFiles = { at: EventTarget | null } & (
  { type: 'dropped'; event: DragEvent<HTMLElement> } | { type: 'chosen'; event: ChangeEvent<HTMLInputElement> }
)

type Take = (files: GivenFiles) => void

let taker: Take | null = null
let load: (() => void) | null = null
let isNeeded = false
const waiting: GivenFiles[] = []

/** Files will probably be given: the code that uploads them is needed. */
export function announceFiles(): void {
  isNeeded = true
  if (!taker) load?.()
}

/** Files wait until the code that uploads them is loaded. */
export function giveFiles(files: GivenFiles): void {
  if (taker) return taker(files)
  waiting.push(files)
  announceFiles()
}

/** Takes what waits and what comes. @returns the function that ends it */
export function takeGivenFiles(take: Take): () => void {
  taker = take
  waiting.splice(0).forEach(take)
  return () => {
    if (taker === take) taker = null
  }
}

/** Calls back when the code that uploads files is needed. @returns the function that ends it and forgets what waits */
export function whenUploadsNeeded(act: () => void): () => void {
  load = act
  if (isNeeded) act()
  return () => {
    load = null
    isNeeded = false
    discardGivenFiles()
  }
}

/** @returns whether files were waiting */
export const discardGivenFiles = (): boolean => waiting.splice(0).length > 0

/** Makes what was dropped readable after the event: the browser empties its own list then. */
export function holdDrop(event: DragEvent<HTMLElement>): DragEvent<HTMLElement> {
  const { types, items } = event.dataTransfer
  return Object.assign(event, { dataTransfer: { types: [...types], items: Array.from(items, holdItem) } })
}

/** Makes what was chosen readable after the event: by then the input may have the files of another one. */
export function holdChoice(event: ChangeEvent<HTMLInputElement>): ChangeEvent<HTMLInputElement> {
  const { files } = event.target
  return Object.assign(event, { target: { files } })
}

function holdItem(item: DataTransferItem) {
  const [file, entry] = [item.getAsFile(), item.webkitGetAsEntry()]
  return { kind: item.kind, type: item.type, getAsFile: () => file, webkitGetAsEntry: () => entry }
}

export const hasFiles = ({ dataTransfer }: { dataTransfer: DataTransfer | null }): boolean =>
  dataTransfer?.types.includes('Files') === true
