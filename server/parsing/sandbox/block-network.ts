import net from 'node:net'

/** Node's permission model does not cover the network yet. */
export function blockNetwork(): void {
  net.Socket.prototype.connect = () => {
    throw new Error('a reader of files has no network')
  }
  Reflect.deleteProperty(globalThis, 'fetch')
  Reflect.deleteProperty(globalThis, 'WebSocket')
  Reflect.deleteProperty(globalThis, 'EventSource')
}
