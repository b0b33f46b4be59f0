import { useState } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { loadable } from './loadable.tsx'

/** With state of its own, as a component may have. */
function Calling({ name }: { name: string }) {
  const [called] = useState(name)
  return <p>Calling {called}</p>
}
const Greeting = ({ name }: { name: string }) => <p>Hello {name}</p>

test('shows at once what was loaded before, and something else until then', async () => {
  const code = Promise.withResolvers<{ default: typeof Greeting }>()
  let loads = 0
  const Part = loadable(
    () => {
      loads += 1
      return code.promise
    },
    { loading: Calling },
  )
  expect(renderToStaticMarkup(<Part name="Ann" />)).toBe('<p>Calling Ann</p>')
  Part.preload()
  Part.preload()
  code.resolve({ default: Greeting })
  await code.promise
  await Promise.resolve()
  expect(renderToStaticMarkup(<Part name="Ann" />)).toBe('<p>Hello Ann</p>')
  expect(loads).toBe(1)
})
