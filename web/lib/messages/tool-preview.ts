const MAX_CHARACTERS = 100

export function toolPreview(content: string): string {
  const characters = Array.from(content.slice(0, MAX_CHARACTERS * 2 + 2))
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS).join('')}...` : content
}
