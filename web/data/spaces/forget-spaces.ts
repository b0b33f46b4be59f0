import { useAuthorNames } from './author-names.ts'
import { useKnownSpaces } from './known-spaces.ts'
import { setOwnDocuments } from './own-documents.ts'
import { useUnreadAnswers } from './unread-answers.ts'

export function forgetSpaces(): void {
  useKnownSpaces.setState({ spaces: [] })
  useUnreadAnswers.setState({ counts: {} })
  useAuthorNames.setState({ names: {} })
  setOwnDocuments(null, false)
}
