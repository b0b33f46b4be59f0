export interface ByteSource {
  readonly size: number
  read(start: number, length: number): Promise<Uint8Array>
}

export const createByteSource = (bytes: Uint8Array): ByteSource => ({
  size: bytes.byteLength,
  read: async (start, length) => bytes.subarray(start, start + length),
})
