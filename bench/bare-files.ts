/** Baseline of `npm run bench -- storage`, in its own process: streams a body to a file and back. */
import { createReadStream, createWriteStream } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'

const [, , folder = '.'] = process.argv
const file = path.join(folder, 'bare')

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') return pipeline(createReadStream(file), response)
  await pipeline(request, createWriteStream(file, { flush: true }))
  response.end()
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error)
    response.destroy()
  })
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
