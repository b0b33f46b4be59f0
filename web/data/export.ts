/** The archive of everything that a person has here. */
import { exportSize } from '#contract/export.ts'
import { apiJson } from './client.ts'

/**
 * Has the browser download the archive, as it is written and straight to disk: with the cookie, which the first request
 * sees to. Resolves with about how many bytes will come; rejects where the server or the session is gone.
 */
export async function startExport(): Promise<number> {
  const { bytes } = await apiJson('/api/account/export/size', exportSize)
  const link = document.createElement('a')
  link.href = '/api/account/export'
  link.download = ''
  link.click()
  return bytes
}
