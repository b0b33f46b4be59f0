/** Follows a mailed link as a person does: opens its page and presses the one button there. */

const attributeOf = (tag: string, name: string): string =>
  (new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

/** The form of a page: where it is sent, and its hidden fields. */
export function formOf(html: string, pageUrl: string | URL): { action: URL; fields: URLSearchParams } {
  const fields = new URLSearchParams()
  for (const [tag] of html.matchAll(/<input[^>]*>/g)) fields.set(attributeOf(tag, 'name'), attributeOf(tag, 'value'))
  return { action: new URL(attributeOf(/<form[^>]*>/.exec(html)?.[0] ?? '', 'action'), pageUrl), fields }
}

/** @returns the redirect of the button, or the answer to the link itself if it has no page with a button */
export async function pressButton(link: string | URL, headers: Record<string, string> = {}): Promise<Response> {
  const opened = await fetch(link, { redirect: 'manual', headers })
  if (opened.status !== 200) return opened
  const { action, fields } = formOf(await opened.text(), link)
  return fetch(action, { method: 'POST', redirect: 'manual', headers, body: fields })
}
