import { expect, it } from 'vitest'
import { commandTokenAt, insertCommand, matchingCommands, splitCommands } from './tool-commands.ts'

const names = (text: string, cursor = text.length) =>
  matchingCommands(commandTokenAt(text, cursor)).map(({ name }) => name)

it('offers all commands for a bare @ at the start or after whitespace', () => {
  expect(names('@')).toEqual(['search', 'web', 'knowledge'])
  expect(names('find\n@')).toEqual(['search', 'web', 'knowledge'])
})

it('offers nothing inside an address or after an unknown beginning', () => {
  expect(names('me@')).toEqual([])
  expect(names('@x')).toEqual([])
  expect(names('@search for')).toEqual([])
})

it('filters by prefix, whatever the case', () => {
  expect(names('@W')).toEqual(['web'])
  expect(names('say @know please', 9)).toEqual(['knowledge'])
})

it('puts the command and one space in place of the token', () => {
  const text = 'say @kn please'
  const token = commandTokenAt(text, 7)
  if (token === null) throw new Error('no token')
  expect(insertCommand(text, token, '@knowledge')).toEqual({ text: 'say @knowledge please', cursor: 15 })
})

it('marks whole commands only', () => {
  expect(splitCommands('@web and @website a@web @search')).toEqual([
    { text: '@web', isCommand: true },
    { text: ' and @website a@web ', isCommand: false },
    { text: '@search', isCommand: true },
  ])
})
