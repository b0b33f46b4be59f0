import { expect, it, test } from 'vitest'
import { namesOtherHost } from './link-text.ts'

const asked = new URL('https://asked.example/page')

it.each([
  'other.example',
  'www.other.example',
  'Sign in at other.example',
  'Sign in at other.example/login now',
  'https://other.example/asked.example',
  'http://asked.example and http://other.example',
  'https://other.example@asked.example/',
  'ftp://other.example',
  '//other.example',
  '@other.example',
  '(other.example)',
  'other\u200b.example',
  'other．example',
  'other。example',
  'other.zip',
  'sub.asked.example',
  'asked.example:8080',
  'help@other.example',
])('a link with the text %s names another host', (text) => expect(namesOtherHost(text, asked)).toBe(true))

it.each([
  'asked.example',
  'ASKED.example/other.html',
  'www.asked.example',
  'https://asked.example/other',
  'See asked.example, page 3.5',
  'mail@asked.example',
  'Version 2.0 and more',
  '',
])('a link with the text %s does not', (text) => expect(namesOtherHost(text, asked)).toBe(false))

test('the host of a mailbox is that after the @', () => {
  expect(namesOtherHost('rent@mail.example', new URL('mailto:rent@mail.example'))).toBe(false)
  expect(namesOtherHost('rent@bank.example', new URL('mailto:rent@mail.example'))).toBe(true)
})
