/** Recordings whose words are not in a message box: they outlive the box that they were made for. */
import { create } from 'zustand'

export const useKeptRecordings = create<{ recordings: readonly Blob[] }>(() => ({ recordings: [] }))

export function keepRecording(recording: Blob): void {
  useKeptRecordings.setState(({ recordings }) => ({
    recordings: [...recordings.filter((kept) => kept !== recording), recording],
  }))
}

export function forgetRecording(recording: Blob): void {
  useKeptRecordings.setState(({ recordings }) => ({ recordings: recordings.filter((kept) => kept !== recording) }))
}

/** Forgets everything, when somebody signs out. */
export function forgetRecordings(): void {
  useKeptRecordings.setState({ recordings: [] })
}
