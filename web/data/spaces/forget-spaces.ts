import { forgetAuthorNames } from './author-names.ts'
import { showDeletedSpace } from './deleted-space.ts'
import { useKnownSpaces } from './known-spaces.ts'
import { setOwnDocuments } from './own-documents.ts'

export function forgetSpaces(): void {
  useKnownSpaces.setState({ spaces: [] })
  forgetAuthorNames()
  setOwnDocuments(null, false)
  showDeletedSpace(null)
}
