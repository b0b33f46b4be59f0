import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startRecording } from './recorder.ts'

/** A microphone and recorder that emit the given pieces, after MediaRecorder (W3C). */
class SilentRecorder extends EventTarget {
  static heard: string[] = []
  static started: { chunkMs: number; mimeType: string | undefined }[] = []
  static isTypeSupported = (type: string): boolean => type === 'audio/webm'
  state = 'inactive'
  readonly mimeType: string

  constructor(_stream: unknown, options: { mimeType?: string }) {
    super()
    this.mimeType = `${options.mimeType ?? ''};codecs=opus`
  }

  start(chunkMs: number): void {
    this.state = 'recording'
    SilentRecorder.started.push({ chunkMs, mimeType: this.mimeType })
  }

  stop(): void {
    this.state = 'inactive'
    for (const piece of SilentRecorder.heard) {
      this.dispatchEvent(Object.assign(new Event('dataavailable'), { data: new Blob([piece]) }))
    }
    this.dispatchEvent(new Event('stop'))
  }
}

const track = { stop: vi.fn() }

beforeEach(() => {
  SilentRecorder.started = []
  vi.stubGlobal('MediaRecorder', SilentRecorder)
  vi.stubGlobal('navigator', { mediaDevices: { getUserMedia: async () => ({ getTracks: () => [track] }) } })
})
afterEach(() => vi.unstubAllGlobals())

test('records audio/webm in pieces of a second, merges them and lets the microphone go', async () => {
  SilentRecorder.heard = ['one ', '', 'two']
  const pieces: Blob[] = []
  const recorder = await startRecording((piece) => pieces.push(piece))
  const blob = await recorder.stop()
  expect(SilentRecorder.started).toEqual([{ chunkMs: 1000, mimeType: 'audio/webm;codecs=opus' }])
  expect([blob.type, await blob.text()]).toEqual(['audio/webm', 'one two'])
  expect(pieces.map(({ type, size }) => [type, size])).toEqual([
    ['audio/webm', 4],
    ['audio/webm', 3],
  ])
  expect(track.stop).toHaveBeenCalled()
})

test('stopping twice says that nothing is being recorded', async () => {
  SilentRecorder.heard = ['one']
  const recorder = await startRecording(() => undefined)
  await recorder.stop()
  await expect(recorder.stop()).rejects.toThrow('Not currently recording')
})

test('stopping where nothing was heard says so', async () => {
  SilentRecorder.heard = []
  const recorder = await startRecording(() => undefined)
  await expect(recorder.stop()).rejects.toThrow('No audio data captured')
})
