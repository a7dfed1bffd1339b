// A plate of 2 m x 1 m with a round hole.
SetFactory("OpenCASCADE");
Rectangle(1) = {0, 0, 0, 2, 1};
Disk(2) = {0.7, 0.5, 0, 0.2, 0.2};
BooleanDifference(3) = { Surface{1}; Delete; }{ Surface{2}; Delete; };
MeshSize{ PointsOf{ Surface{3}; } } = 0.12;
Physical Surface("plate") = {3};
Physical Curve("left") = Curve In BoundingBox {-0.01, -0.01, -0.01, 0.01, 1.01, 0.01};
Physical Curve("right") = Curve In BoundingBox {1.99, -0.01, -0.01, 2.01, 1.01, 0.01};
Physical Curve("hole") = Curve In BoundingBox {0.49, 0.29, -0.01, 0.91, 0.71, 0.01};
