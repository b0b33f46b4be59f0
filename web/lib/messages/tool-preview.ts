const SHOWN = 100

/** The first 100 characters of a tool's output and '...', or all of a shorter one. */
export function toolPreview(content: string): string {
  const characters = Array.from(content.slice(0, SHOWN * 2 + 2))
  return characters.length > SHOWN ? `${characters.slice(0, SHOWN).join('')}...` : content
}
