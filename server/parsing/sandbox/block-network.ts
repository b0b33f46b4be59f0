import net from 'node:net'

/** Removes the network from this process: Node's permission model does not cover it yet. */
export function blockNetwork(): void {
  net.Socket.prototype.connect = () => {
    throw new Error('a reader of files has no network')
  }
  Reflect.deleteProperty(globalThis, 'fetch')
  Reflect.deleteProperty(globalThis, 'WebSocket')
  Reflect.deleteProperty(globalThis, 'EventSource')
}
