/** Addresses of links as part of the text: in brackets behind their words. */

/** Schemes that a person can follow or write down; scripts, files and places inside the document are left out. */
const SHOWN = /^(?:https?:\/\/|ftps?:\/\/|mailto:|tel:|sms:|sips?:|xmpp:|geo:|doi:|urn:|www\.)[^\s\p{Cc}]+$/iu
const MAX_ADDRESS_CHARACTERS = 2_000

/** The address as text, or undefined for one that is not shown. Mail addresses and telephone numbers lose their scheme. */
export function readAddress(target: string): string | undefined {
  const address = target.trim().replaceAll(' ', '%20')
  if (address.length > MAX_ADDRESS_CHARACTERS || !SHOWN.test(address)) return undefined
  const plain = /^(?:mailto|tel|sms):/i.test(address) ? decode(address.replace(/^\w+:(?:\/\/)?|\?.*$/g, '')) : address
  return plain === '' ? undefined : plain
}

/** " (address)" to write behind the words of a link; empty if the words are the address, or it is not shown. */
export function addressBehind(words: string, target: string): string {
  const address = readAddress(target)
  return address === undefined || isWritten(words, address) ? '' : ` (${address})`
}

/** Whether the words show the address, apart from its scheme and how it is escaped. */
function isWritten(words: string, address: string): boolean {
  const [shown, wanted] = [simplify(words), simplify(address)]
  return wanted === '' || shown === wanted || (wanted.length >= MIN_CONTAINED && shown.includes(wanted))
}

/** Shorter addresses may be part of another word. */
const MIN_CONTAINED = 6

const simplify = (text: string): string =>
  decode(text)
    .toLowerCase()
    .replaceAll(/[\s\u00ad\u200b]+/g, '')
    .replace(/^[<(["]+/, '')
    .replace(/^(?:https?:\/\/|ftps?:\/\/|mailto:|tel:|sms:)/, '')
    .replace(/^www\./, '')
    .replace(/(?<![/>)\]".,;])[/>)\]".,;]+$/, '')

function decode(text: string): string {
  try {
    return decodeURI(text)
  } catch {
    return text
  }
}
