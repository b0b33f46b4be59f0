import type { Agent } from 'node:http'
import { guardStream } from './guard-events.ts'

/** Guards the sockets of `agent`: an error in a handler fails the request that its socket serves at that time. */
export function guardAgent(agent: Agent): void {
  const createConnection = agent.createConnection.bind(agent)
  agent.createConnection = (options, done) => {
    const socket = createConnection(options, done)
    if (socket) guardStream(socket)
    return socket
  }
}
