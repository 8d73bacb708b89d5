class Body:
    def __init__(self, x, y, z, vx, vy, vz, m):
        self.x, self.y, self.z = x, y, z
        self.vx, self.vy, self.vz = vx, vy, vz
        self.m = m
    def move(self, dt):
        self.x += dt * self.vx
        self.y += dt * self.vy
        self.z += dt * self.vz
def advance(bodies, dt):
    for i, a in enumerate(bodies):
        for b in bodies[i + 1:]:
            dx = a.x - b.x
            dy = a.y - b.y
            dz = a.z - b.z
            d2 = dx * dx + dy * dy + dz * dz
            mag = dt / (d2 * d2 ** 0.5)
            am = a.m * mag
            bm = b.m * mag
            a.vx -= dx * bm
            a.vy -= dy * bm
            a.vz -= dz * bm
            b.vx += dx * am
            b.vy += dy * am
            b.vz += dz * am
    for b in bodies:
        b.move(dt)
def run():
    bs = [Body(i * 1.5, i * -0.7 + 1, i * 0.3, 0.1 * i, 0.2, -0.1 * i, 1.0 + i) for i in range(5)]
    for _ in range(1500):
        advance(bs, 0.001)
    return round(bs[0].x, 9)
