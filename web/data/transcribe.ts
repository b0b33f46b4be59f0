/** Speech to text: by the server, else by the provider, called from the browser. */
import { z } from 'zod'
import { apiFetch, apiJson, HttpError } from './client.ts'
import { usePageSettings } from './settings.ts'

const TIMEOUT_MS = 60_000
const DIRECT_MODEL = 'whisper-1'
const NO_PROVIDER = 'Unable to connect to OpenAI services. Please try again later.'

const transcript = z.object({ text: z.string() })
const browserAccess = z.object({ apiKey: z.string().min(1), baseUrl: z.string() })

function buildForm(field: string, recording: Blob): FormData {
  const form = new FormData()
  const { spokenLanguage } = usePageSettings.getState()
  // Appended before the recording, which the server streams on.
  if (spokenLanguage !== null) form.append('language', spokenLanguage)
  form.append(field, recording, 'recording.webm')
  return form
}

async function transcribeByServer(recording: Blob): Promise<string> {
  const response = await apiFetch('/api/transcribe', {
    method: 'POST',
    body: buildForm('audio', recording),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  return transcript.parse(await response.json()).text
}

async function transcribeByProvider(recording: Blob): Promise<string> {
  const { apiKey, baseUrl } = await apiJson('/api/openai/key', browserAccess).catch((error: unknown) => {
    console.error(NO_PROVIDER)
    throw error
  })
  const form = buildForm('file', recording)
  form.append('model', DIRECT_MODEL)
  const response = await fetch(`${baseUrl}/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: form,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok) throw new HttpError(response.status, (await response.text()) || response.statusText)
  return transcript.parse(await response.json()).text
}

export async function transcribe(recording: Blob): Promise<string> {
  const audio = recording.type.startsWith('audio/') ? recording : new Blob([recording], { type: 'audio/webm' })
  try {
    return await transcribeByServer(audio)
  } catch (error) {
    console.error('The server could not transcribe, asking the provider', error)
    return await transcribeByProvider(audio)
  }
}
