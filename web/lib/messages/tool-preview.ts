const MAX_CHARACTERS = 100

/** The first 100 characters of a tool's output and '...', or all of a shorter one. */
export function toolPreview(content: string): string {
  const characters = Array.from(content.slice(0, MAX_CHARACTERS * 2 + 2))
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS).join('')}...` : content
}
