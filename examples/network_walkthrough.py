"""What happens inside a neural network, step by step: from defining one to training it.

python -m torchlike examples/network_walkthrough.py
"""

import math

import torch
from torch import nn, optim
from torch.nn import functional as F

torch.manual_seed(0)


def title(text):
    print(f"\n--- {text} ---")


# A network is a class: its constructor makes the layers that have weights, and forward says how the
# data pass through them.  No backward is written; autograd derives it from forward.
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)  # 1 channel in, 6 out, a window of 5 x 5
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)  # y = x W^T + b
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), (2, 2))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)  # a single number means a square
        x = x.view(-1, self.features_per_image(x))
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)

    def features_per_image(self, x):
        return math.prod(x.size()[1:])  # everything but the batch dimension


title("the network")
net = Net()
print(net)

title("its parameters: a weight and a bias for each layer")
params = list(net.parameters())
print("how many:", len(params))
print("size of conv1.weight:", params[0].size())
print("what they are:", type(params[0]))
for name, parameter in net.named_parameters():
    print(f"{name:13}{tuple(parameter.shape)}")

title("forward: one random image of 32 x 32 gives ten scores")
image = torch.randn(1, 1, 32, 32)
scores = net(image)
print(scores)

# backward() of a tensor that is no scalar needs the gradient to start from: here a random one.
title("backward from a random gradient")
net.zero_grad()
scores.backward(torch.randn(1, 10))
print("conv1.bias.grad:", net.conv1.bias.grad)

title("a loss: how far the scores are from a target")
scores = net(image)
target = torch.randn(10)  # invented, as we have no real answer
target = target.view(1, -1)  # the same shape as the scores
criterion = nn.MSELoss()
loss = criterion(scores, target)
print(loss)


# Each result remembers the function that made it (grad_fn), and that function remembers those that
# made its inputs (next_functions).  backward() walks this graph from the loss to the parameters.
def node_name(node):
    return type(node).__name__


def longest_path(node):
    """The names along the deepest chain of functions that starts at node."""
    tails = [longest_path(before) for before, _ in node.next_functions if before is not None]
    return [node_name(node), *max(tails, key=len, default=[])]


title("the graph that led to the loss")
mse = loss.grad_fn
linear = mse.next_functions[0][0]
print("the loss was made by", mse.name())
print("its input by", linear.name())
print("whose inputs come from", [node_name(before) for before, _ in linear.next_functions])
print("the whole way back to the first weight:")
for name in longest_path(mse):
    print("   ", name)

# Gradients add up over calls of backward(), so they are cleared before each use.  Clearing drops
# them (None); set_to_none=False keeps the tensors and fills them with zeros.
title("gradients before and after backward")
net.zero_grad(set_to_none=False)
print("conv1.bias.grad before:", net.conv1.bias.grad)
loss.backward()
print("conv1.bias.grad after: ", net.conv1.bias.grad)
print("fc3.bias.grad after:   ", net.fc3.bias.grad)
net.zero_grad()
print("conv1.bias.grad cleared:", net.conv1.bias.grad)

# Gradient descent by hand: move each weight a little against its gradient.  Writing to .data
# changes the numbers without recording the change as part of the graph.
title("one update by hand")
learning_rate = 0.01
loss = criterion(net(image), target)
loss.backward()
for parameter in net.parameters():
    parameter.data.sub_(parameter.grad.data * learning_rate)
print(f"loss before: {loss.item():.4f}")
print(f"loss after:  {criterion(net(image), target).item():.4f}")

# An optimizer does the same, and offers rules cleverer than plain descent.  Without zero_grad each
# step would also follow the gradients of all steps before it.
title("the same with an optimizer")
optimizer = optim.SGD(net.parameters(), lr=0.01)
for step in range(1, 6):
    optimizer.zero_grad()
    loss = criterion(net(image), target)
    loss.backward()
    optimizer.step()
    print(f"step {step}: loss {loss.item():.4f}")
