/** What is open, as the address says it: `/?chat={id}&doc={id}&page={n}`. */
export type Place = { chatId: string | null; documentId: string | null; page: number }

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

const idIn = (params: URLSearchParams, name: string): string | null => {
  const value = params.get(name)
  return value !== null && UUID.test(value) ? value : null
}

/** Reads the address; what is no valid id is as if it were not there. */
export function parsePlace(search: string): Place {
  const params = new URLSearchParams(search)
  const documentId = idIn(params, 'doc')
  const page = Number(params.get('page'))
  return {
    chatId: idIn(params, 'chat'),
    documentId,
    page: documentId !== null && Number.isSafeInteger(page) && page > 0 ? page : 1,
  }
}

export function addressOf({ chatId, documentId, page }: Place): string {
  const params = new URLSearchParams()
  if (chatId !== null) params.set('chat', chatId)
  if (documentId !== null) {
    params.set('doc', documentId)
    params.set('page', String(page))
  }
  const search = params.toString()
  return search === '' ? '/' : `/?${search}`
}
