/** Adds to the error of a failed browser test what its pages show, since many machines that run it cannot be watched. */
import { afterEach } from 'vitest'
import { openPages } from './browser.ts'

const MAX_SHOWN = 3000

afterEach(async ({ task }) => {
  const error = task.result?.errors?.at(-1)
  if (error === undefined) return
  for (const page of openPages) {
    const shown = await page
      .locator('body')
      .ariaSnapshot({ timeout: 5000 })
      .catch((reason: unknown) => String(reason))
    error.message += `\n\nShown at ${page.url()}:\n${shown.slice(0, MAX_SHOWN)}`
  }
})
