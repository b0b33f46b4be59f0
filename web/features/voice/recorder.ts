/** Records the microphone as audio/webm. */

const CHUNK_MS = 1000
const FORMAT = 'audio/webm'

type Recorder = {
  /** Ends the recording, releases the microphone and returns all recorded audio. */
  stop: () => Promise<Blob>
}

type Session = { recorder: MediaRecorder; chunks: Blob[]; ended: Promise<void> }

/** Browsers offer the microphone in a secure context only. */
export function offersCapture(): boolean {
  return 'mediaDevices' in navigator && 'MediaRecorder' in window
}

function begin(stream: MediaStream, onChunk: (chunk: Blob) => void): Session {
  // A browser without webm uses its own format and labels it correctly.
  const recorder = new MediaRecorder(stream, MediaRecorder.isTypeSupported(FORMAT) ? { mimeType: FORMAT } : {})
  const chunks: Blob[] = []
  recorder.addEventListener('dataavailable', ({ data }) => {
    if (data.size === 0) return
    const chunk = new Blob([data], { type: recorder.mimeType.split(';')[0] ?? FORMAT })
    chunks.push(chunk)
    onChunk(chunk)
  })
  // Unplugging the microphone stops the recorder too.
  const ended = new Promise<void>((resolve) => recorder.addEventListener('stop', () => resolve(), { once: true }))
  recorder.start(CHUNK_MS)
  return { recorder, chunks, ended }
}

/** Asks for the microphone and records it; `onChunk` receives each second. Rejects when permission is denied. */
export async function startRecording(onChunk: (chunk: Blob) => void): Promise<Recorder> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
  const release = (): void => stream.getTracks().forEach((track) => track.stop())
  let session: Session | null = null
  try {
    session = begin(stream, onChunk)
  } catch (error) {
    release()
    throw error
  }
  return {
    async stop() {
      if (session === null) throw new Error('Not currently recording')
      const { recorder, chunks, ended } = session
      session = null
      if (recorder.state !== 'inactive') recorder.stop()
      await ended
      release()
      const [first] = chunks
      if (first === undefined) throw new Error('No audio data captured')
      return new Blob(chunks, { type: first.type })
    },
  }
}
