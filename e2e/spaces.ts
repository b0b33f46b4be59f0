/** Steps of tests that work in spaces. */
import type { Page } from 'playwright-core'

/** The button that shows the current space, on whose page it may be in another tab of the panel. */
export const spaceButton = (page: Page, name: string) => page.getByRole('button', { name: `Space: ${name}` })

const anySpaceButton = (page: Page) => page.getByRole('button', { name: /^Space: / })

export async function switchTo(page: Page, name: string): Promise<void> {
  await anySpaceButton(page).click()
  await page.getByRole('menuitemradio', { name }).click()
  await spaceButton(page, name).waitFor()
}

/** Makes a space; its dialog asks for documents then. @param look called while it asks for the name */
export async function makeSpace(page: Page, name: string, look?: () => Promise<void>): Promise<void> {
  await anySpaceButton(page).click()
  await page.getByRole('menuitem', { name: 'New space' }).click()
  const dialog = page.getByRole('dialog', { name: 'New space' })
  await dialog.getByLabel('Name').fill(name)
  await look?.()
  await dialog.getByRole('button', { name: 'Create space' }).click()
  await page.getByRole('dialog', { name: `Documents of ${name}` }).waitFor()
}

/** Adds a text file through the upload area that is shown. */
export async function addDocument(page: Page, name: string, text: string): Promise<void> {
  await page
    .getByLabel('Files to upload')
    .last()
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
  await page.getByRole('dialog').getByText(name).waitFor()
}
