import { exportSize } from '#contract/export.ts'
import { ownPath } from '#web/data/base-path.ts'
import { apiJson } from './client.ts'

/**
 * Starts the browser's own download, authenticated by the cookie that the first request renews.
 * @returns the estimated size in bytes @throws if the server or the session is gone
 */
export async function startExport(): Promise<number> {
  const { bytes } = await apiJson('/api/account/export/size', exportSize)
  const link = document.createElement('a')
  link.href = ownPath('/api/account/export')
  link.download = ''
  link.click()
  return bytes
}
