import type { Agent } from 'node:http'
import { toError } from './errors.ts'
import { guardEvents } from './guard-events.ts'

/** Guards the sockets of `agent`: an error in a handler fails the request that its socket serves at that time. */
export function guardAgent(agent: Agent): void {
  const createConnection = agent.createConnection.bind(agent)
  agent.createConnection = (options, done) => {
    const socket = createConnection(options, done)
    if (socket) guardEvents(socket, (error) => socket.destroy(toError(error)))
    return socket
  }
}
