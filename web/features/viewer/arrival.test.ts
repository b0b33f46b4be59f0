import { expect, test } from 'vitest'

import { watchArrival } from './arrival.ts'

test('holds the page that was asked for until the scroll moves away', () => {
  const scroller = { scrollTop: 0 }
  const arrival = watchArrival(scroller)
  expect(arrival.page()).toBeNull()
  scroller.scrollTop = 4200.4
  arrival.arriveAt(25)
  scroller.scrollTop = 4200
  expect(arrival.page()).toBe(25)
  scroller.scrollTop = 4150
  expect(arrival.page()).toBeNull()
})
