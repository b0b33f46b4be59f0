// Baseline of `npm run bench -- replies`: inserts the row and streams the model server's output straight back, without
// queue, log, second viewer or policies.
import { createServer } from 'node:http'
import pg from 'pg'

const [, , connection = '{}', model = ''] = process.argv
const pool = new pg.Pool({ ...JSON.parse(connection), max: 20 })
await pool.query(
  'create table if not exists bare_messages (id uuid primary key default gen_random_uuid(), content text not null, created_at timestamptz not null default now())',
)

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const { content } = JSON.parse(body)
  await pool.query('insert into bare_messages (content) values ($1)', [content])
  const answer = await fetch(`${model}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'stub', stream: true, messages: [{ role: 'user', content }] }),
  })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  for await (const chunk of answer.body) response.write(chunk)
  response.end()
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
process.on('SIGTERM', () => process.exit(0))
