import { useAuthorNames } from './author-names.ts'
import { useKnownSpaces } from './known-spaces.ts'
import { setOwnDocuments } from './own-documents.ts'

export function forgetSpaces(): void {
  useKnownSpaces.setState({ spaces: [] })
  useAuthorNames.setState({ names: {} })
  setOwnDocuments(null, false)
}
